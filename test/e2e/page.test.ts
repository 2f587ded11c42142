/** Suites of the page that share one Chromium and one server. Each can also be run by itself. */
import "./page/work.test.ts";
import "./page/control.test.ts";
import "./page/files.test.ts";
import "./page/pdf.test.ts";
import "./page/cost.test.ts";
import "./page/sessions.test.ts";
import "./page/text.test.ts";
import "./page/wire.test.ts";
