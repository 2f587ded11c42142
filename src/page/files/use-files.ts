/** The files of a session, asked for again when something may have changed. */
import { useCallback, useEffect, useState } from "preact/hooks";
import type { FileInfo } from "../../core/events.ts";
import { api, errorWords } from "../api.ts";

interface Files {
  /** null until the first answer. */
  files: FileInfo[] | null;
  problem: string | null;
  remove(file: FileInfo): void;
}

export function useFiles(session: string, refresh: string): Files {
  const [files, setFiles] = useState<FileInfo[] | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    let current = true;
    api.listFiles(session).then(
      (list) => {
        if (!current) return;
        setFiles(list);
        setProblem(null);
      },
      (error: unknown) => current && setProblem(errorWords(error)),
    );
    return () => {
      current = false;
    };
  }, [session, refresh]);
  const remove = useCallback(
    (file: FileInfo) => {
      api.deleteFile(session, file.path).then(
        () => setFiles((list) => list?.filter((f) => f.path !== file.path) ?? null),
        (error: unknown) => setProblem(errorWords(error)),
      );
    },
    [session],
  );
  return { files, problem, remove };
}
