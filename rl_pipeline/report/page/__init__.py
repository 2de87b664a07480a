"""The HTML page of an experiment, and the index of all of them: views here, markup in `templates/`."""
