/** Every fixed limit of the product, in one place. What a user may change stands in settings.ts. */
export const LIMITS = {
  /** A request body, bytes. */
  bodyBytes: 1024 * 1024,
  /** A file, bytes. */
  fileBytes: 25 * 1024 * 1024,
  /** All files of a session together, bytes. */
  filesBytes: 500 * 1024 * 1024,
  /** Files and folders of a session. */
  filesCount: 20_000,
  /** Requests of one owner in a minute, where the platform's rate limiter is not bound. */
  requestsPerMinute: 6_000,
  /** Attempts to come in that one address may fail at in a minute. */
  refusalsPerMinute: 300,
  /** The text of a message or an answer, UTF-8 bytes. */
  messageBytes: 256 * 1024,
  /** A frame from a client, bytes. */
  frameBytes: 1024 * 1024,
  /** Frames that a socket may send in a second and at once; bytes of one for which it counts as one more. */
  framesPerSecond: 40,
  frameBurst: 400,
  frameUnit: 16 * 1024,
  /** A frame to a client, characters: far below 1 MiB even if every one takes three bytes. */
  frameChars: 256 * 1024,
  /** A snapshot, bytes. */
  snapshotBytes: 240 * 1024,
  /** A model's reply, characters; beyond it the reply counts as cut. */
  replyChars: 256 * 1024,
  /** Tool calls in one reply. */
  replyCalls: 128,
  /** Messages that may wait for a running turn, and their JSON's characters together. */
  queueLength: 50,
  queueChars: 400_000,
  /** Code points of a step's description, and of its result or error in the plan. */
  descriptionChars: 1_000,
  stepChars: 2_000,
  /** Steps of a plan. */
  planSteps: 50,
  /** Code points of a title. */
  titleChars: 80,
  /** Characters of one string among the arguments that an event shows, of a call's, and of a reply's together. */
  shownArgChars: 2_000,
  shownArgsChars: 16_000,
  shownBatchChars: 256_000,
  /** Code points of a text that a model writes for people (final message, question). */
  proseChars: 128 * 1024,
  /** Code points of an open question, and of one of its options; its message has it whole. */
  waitChars: 8_000,
  optionChars: 200,
  /** Code points of tool output in an event. */
  eventOutputChars: 64_000,
  /** Code points of a tool result that settings may ask for. */
  toolResultChars: 200_000,
  /** Code points of a result that is given again in place of a repeated read. */
  repeatedChars: 8_000,
  /** Code points of one message in a memory, whatever comes: a row stays below SQLite's 2 MiB. */
  rowChars: 400_000,
  /** All messages of a session's memories as they are stored, characters: an object has 128 MB, and one may take two bytes. */
  memoryChars: 32 * 1024 * 1024,
  /** A layer of settings as JSON, characters. */
  settingsChars: 64 * 1024,
  /** Issues of a review, and code points of each. */
  reviewIssues: 20,
  issueChars: 500,
  /** Code points of a ready answer that the reviewer reads. */
  reviewAnswerChars: 16_000,
  /** Gathering before a direct answer: model replies, code points of a result and of all results, seed calls. */
  evidenceLaps: 4,
  evidenceChars: 4_000,
  evidenceTotal: 12_000,
  evidenceSeeds: 8,
  /** Files that a message or a terminal call may name. */
  attachments: 100,
  /** The longest timer that settings may ask for, milliseconds. */
  timerMs: 24 * 3_600_000,
  /** Characters of a tool's name that endpoints take. */
  toolNameChars: 64,
  /** Tools of one MCP server. */
  mcpTools: 128,
  /** Characters of one MCP tool as JSON, of all of a turn, and code points of a description. */
  mcpToolChars: 32_000,
  mcpChars: 512_000,
  mcpDescriptionChars: 4_000,
  /** Milliseconds that an MCP server has to list its tools. */
  mcpListMs: 10_000,
  /** Bytes of one answer of an MCP server. */
  mcpBytes: 8 * 1024 * 1024,
  /** How long a tool may take that has bounds of its own, milliseconds. */
  unhurriedMs: 3_600_000,
  /** Tries of one model call over transport failures. */
  modelTries: 5,
  /** Wake-ups in a row without progress. */
  restarts: 5,
  /** Seconds that `Prefer: wait` may name. */
  waitSeconds: 300,
  /** Events in one page of `GET …/events`. */
  eventsPage: 1_000,
  /** … and its characters, roughly: a page has at least one event. */
  pageChars: 8 * 1024 * 1024,
  /** Characters of live text that whoever joins mid-stream is told. */
  liveChars: 128 * 1024,
  /** Milliseconds between two joined live frames, and between those to a crowd of sockets: each one costs. */
  liveMs: 33,
  crowd: 32,
  crowdMs: 100,
  /** An import, bytes; one line of it, characters. */
  importBytes: 25 * 1024 * 1024,
  lineChars: 4 * 1024 * 1024,
  /** Live links to one session. */
  shares: 100,
  /** Files that a link may open. */
  sharedFiles: 2_000,
  /** What is shown of a page: elements, characters of each and of a name, an address, a note; notes; text. */
  browserElements: 150,
  browserElementChars: 300,
  browserNameChars: 200,
  browserUrlChars: 2_000,
  browserNotes: 12,
  browserNoteChars: 600,
  browserTextChars: 60_000,
  /** Nodes of a page that are looked at. */
  browserNodes: 60_000,
  /** Tabs that a page may have open. */
  browserTabs: 5,
  /** Milliseconds: until a page has loaded, until it is quiet, for one answer of the browser, without any command. */
  browserLoadMs: 20_000,
  browserQuietMs: 2_000,
  browserAnswerMs: 15_000,
  browserKeepMs: 300_000,
  /** Screenshots of a session, and the bytes of one. */
  browserShots: 30,
  browserShotBytes: 1024 * 1024,
  /** One fetch for a model: bytes of a page and of a shell's download (after decompression), redirects, milliseconds in all and of silence. */
  fetchBytes: 5 * 1024 * 1024,
  downloadBytes: 10 * 1024 * 1024,
  fetchHops: 5,
  fetchMs: 30_000,
  fetchIdleMs: 15_000,
  /** Characters of an address that is asked. */
  urlChars: 8_000,
  /** Characters of HTML that are made into text; a longer page is read up to there. */
  htmlChars: 1_000_000,
  /** Hits of a web search, and code points of what is told of one. */
  searchHits: 10,
  snippetChars: 500,
  /** How long an ephemeral session stays after its last turn, in milliseconds. */
  ephemeralMs: 3_600_000,
  /** The command of a call, and what is typed into a process, UTF-8 bytes: both travel on a command line. */
  commandBytes: 90_000,
  inputBytes: 60_000,
  /** Changed files that one look at a container may bring into the file store, and their bytes together. */
  mirrorFiles: 20_000,
  mirrorBytes: 200 * 1024 * 1024,
  /** Milliseconds that a container may take to come up, and after which people are told that it does. */
  boxStartMs: 90_000,
  boxStartingMs: 2_000,
  /** Seconds without a call after which a container that was forgotten stops by itself. */
  boxSleepS: 300,
  /** Tokens that a turn may use before the owner's accounts hear of it again. */
  untoldTokens: 200_000,
  /** Bytes that a session may grow or shrink at rest before they do. */
  untoldBytes: 256 * 1024,
  /** Milliseconds for which a turn that may begin counts as running although its session has not said so yet. */
  beginningMs: 30_000,
  /** Milliseconds after which an unattended drive is looked after by the alarm. */
  wakeMs: 30_000,
  /** Milliseconds that a health check waits for a provider. */
  reachMs: 3_000,
  /** Spans of a trace: how many wait at the most and go in one request, how often and how long that is tried. */
  traceWaiting: 1_024,
  traceBatch: 128,
  traceTries: 3,
  traceTimeoutMs: 5_000,
  /** How long a span waits for others, and the longest pause between two tries. */
  traceLingerMs: 1_000,
  tracePauseMs: 5_000,
} as const;

/**
 * What one owner may have where the variable QUOTAS says nothing else. Whoever runs it on loopback for themselves is
 * not counted unless it does.
 */
export const QUOTAS = {
  sessions: 10_000,
  /** Bytes of all sessions together: logs, memories, files. */
  storedBytes: 20 * 1024 ** 3,
  /** Turns that run at once; a session that waits runs none. */
  runningTurns: 1_000,
  /** Input and output, by the UTC day; the proxy's too. */
  tokensPerDay: 50_000_000,
} as const;

/** Files and folders of a container that are never kept: they can be made again, or are too many. */
export const MIRROR_SKIPS: readonly string[] = [
  "node_modules",
  ".git",
  ".venv",
  "venv",
  "__pycache__",
  ".cache",
  ".npm",
  ".pnpm-store",
  ".tox",
  ".mypy_cache",
  ".pytest_cache",
];
