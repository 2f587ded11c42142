/** What a search found, as links that open apart from the page. */
import { safeUrl } from "../blocks.ts";
import { t } from "../strings.ts";
import { Link } from "../text.tsx";
import { textOf } from "../tool-label.ts";

interface Props {
  query: string | null;
  results: unknown[];
}

export function SearchView({ query, results }: Props) {
  return (
    <section>
      {query && (
        <p class="path" dir="auto">
          {query}
        </p>
      )}
      {results.length === 0 && <p class="muted">{t("noResults")}</p>}
      <ol class="results">
        {results.map((result) => (
          <Result result={(result ?? {}) as Record<string, unknown>} />
        ))}
      </ol>
    </section>
  );
}

function Result({ result }: { result: Record<string, unknown> }) {
  const link = textOf(result.link) ?? textOf(result.url) ?? "";
  const url = safeUrl(link);
  return (
    <li>
      <Link href={link}>{textOf(result.title) ?? link}</Link>
      <p class="muted host">{url ? new URL(url).host : link}</p>
      <p dir="auto">{textOf(result.snippet) ?? ""}</p>
    </li>
  );
}
