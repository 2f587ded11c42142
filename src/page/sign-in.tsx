/** Shown when the server does not know who is asking. */
import { useState } from "preact/hooks";
import { ApiError } from "../client/index.ts";
import { api, errorWords } from "./api.ts";
import { Sleeper } from "./icons.tsx";
import { t } from "./strings.ts";

export function SignIn({ onSignedIn }: { onSignedIn(): void }) {
  const [token, setToken] = useState("");
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const refused = (error: unknown) => {
    const wrong = error instanceof ApiError && (error.status === 401 || error.status === 403);
    setProblem(wrong ? t("wrongToken") : errorWords(error));
    setBusy(false);
  };
  return (
    <main class="sign-in" id="main">
      <form
        class="notice-box"
        onSubmit={(e) => {
          e.preventDefault();
          setBusy(true);
          void api.login(token.trim()).then(onSignedIn, refused);
        }}
      >
        <Sleeper class="big" />
        <h1>{t("product")}</h1>
        <p class="muted">{t("signInText")}</p>
        <TokenField value={token} onInput={setToken} />
        {problem && (
          <p class="problem" role="alert">
            {problem}
          </p>
        )}
        <button type="submit" class="button primary" disabled={busy || token.trim() === ""}>
          {t("signIn")}
        </button>
      </form>
    </main>
  );
}

function TokenField(props: { value: string; onInput(token: string): void }) {
  return (
    <label>
      <span>{t("token")}</span>
      <input
        type="password"
        autoComplete="current-password"
        value={props.value}
        onInput={(e) => props.onInput(e.currentTarget.value)}
      />
    </label>
  );
}
