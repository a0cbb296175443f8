"""Its presence puts this folder on the import path, so that every test can use `media`, the maker of small videos."""
