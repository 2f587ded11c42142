/** The page's entry. */
import { render } from "preact";
import { App } from "./app.tsx";
import { applyTheme, readTheme } from "./storage.ts";
import { locale } from "./strings.ts";

document.documentElement.lang = locale;
applyTheme(readTheme());
const root = document.getElementById("app");
if (root) render(<App />, root);
