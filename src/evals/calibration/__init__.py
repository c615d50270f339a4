"""What scores are worth: reference agents and damaged references over seeds and difficulties."""
