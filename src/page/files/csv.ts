/** Rows of a CSV or TSV text (RFC 4180), as far as a preview wants them. A quote that is never closed ends the text. */
export function readTable(text: string, separator: string, most: number): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let field = "";
  let quoted = false;
  const endRow = () => {
    row.push(field);
    if (row.length > 1 || row[0] !== "") rows.push(row);
    row = [];
    field = "";
  };
  for (let at = 0; at < text.length && rows.length < most; at++) {
    const char = text.charAt(at);
    if (quoted) {
      if (char !== '"') field += char;
      else if (text.charAt(at + 1) === '"') {
        field += '"';
        at++;
      } else quoted = false;
    } else if (char === '"' && field === "") quoted = true;
    else if (char === separator) {
      row.push(field);
      field = "";
    } else if (char === "\n") endRow();
    else if (char !== "\r" || text.charAt(at + 1) !== "\n") field += char;
  }
  if (rows.length < most) endRow();
  return rows;
}

/** What stands most often in the first line, so that a list with semicolons is a table as well. */
export function separatorOf(text: string, name: string): string {
  if (/\.tsv$/i.test(name)) return "\t";
  const line = text.slice(0, text.indexOf("\n") >>> 0);
  const times = (char: string) => line.split(char).length;
  return [",", ";", "\t"].reduce((best, char) => (times(char) > times(best) ? char : best));
}
