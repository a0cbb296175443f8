# The search index of the real clips.
real::
	$(BIN)/verified index --configfile config/real.yaml $(ARGS)
	@echo "Search these clips: $(BIN)/verified search --serve --configfile config/real.yaml"
