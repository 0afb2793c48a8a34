"""What a person sees in a terminal: tables of text and progress bars."""
