# The page of the review desk: every file here is in sandtrace-desk, served below /assets/.
DESK_WEB = \
	%D%/address.js \
	%D%/api.js \
	%D%/app.js \
	%D%/aside.js \
	%D%/container.js \
	%D%/decide.js \
	%D%/describe.js \
	%D%/desk.js \
	%D%/details.js \
	%D%/dom.js \
	%D%/events.js \
	%D%/filters.js \
	%D%/icon.svg \
	%D%/index.html \
	%D%/keys.js \
	%D%/login.js \
	%D%/pending.js \
	%D%/reviews.js \
	%D%/say.js \
	%D%/stream.js \
	%D%/style.css \
	%D%/text.js \
	%D%/theme.js \
	%D%/time.js \
	%D%/timeline.js
