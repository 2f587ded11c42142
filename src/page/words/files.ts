/** Files: what goes in, what is there, what can be looked at. English and Chinese side by side. */
export const FILES = {
  attach: ["Attach files", "添加文件"],
  dropHere: ["Drop files here", "把文件放到这里"],
  sayWhat: ["Say what to do with the files.", "请说明要如何处理这些文件。"],
  uploading: ["Uploading {name}", "正在上传 {name}"],
  removeFile: ["Remove {name}", "移除 {name}"],
  fileTooLarge: ["Larger than {most}, which is the most.", "超过 {most} 的上限。"],
  attachments: ["Files", "文件"],
  files: ["Files", "文件"],
  filesUsage: ["Files and usage", "文件与用量"],
  noFiles: ["No files yet.", "还没有文件。"],
  download: ["Download", "下载"],
  saveFile: ["Download {name}", "下载 {name}"],
  deleteFile: ["Delete {name}", "删除 {name}"],
  removeSure: ["Really delete?", "确定删除？"],
  saveAll: ["Download all ({size})", "全部下载（{size}）"],
  zipping: ["Packing …", "正在打包……"],
  zipTooLarge: [
    "Together larger than {most}: download them one by one.",
    "总大小超过 {most}，请逐个下载。",
  ],
  noPreview: [
    "No preview for this type ({type}). Download it to look at it.",
    "此类型（{type}）无法预览，请下载查看。",
  ],
  previewCut: [
    "Only the first {shown} are shown. Download it for the rest.",
    "仅显示前 {shown}，其余请下载查看。",
  ],
  tableCut: ["Only the first {n} rows are shown.", "仅显示前 {n} 行。"],
  pdfTitle: ["{name}, as PDF", "{name}（PDF）"],
  pdfTooLarge: [
    "Larger than {most}, the most that is shown of a PDF. Download it to look at it.",
    "超过 PDF 预览的上限 {most}，请下载查看。",
  ],
  pdfNoViewer: [
    "This browser does not show PDF inside a page. Download it to look at it.",
    "此浏览器不能在页面内显示 PDF，请下载查看。",
  ],
  notPdf: [
    "This is no PDF, whatever its name says. Download it only if you trust it.",
    "这个文件虽以 .pdf 结尾，却不是 PDF。请在信任来源时再下载。",
  ],
  emptyFile: ["The file is empty.", "文件是空的。"],
  fileGone: ["The file is no longer there.", "文件已经不在了。"],
  remoteImage: ["Image: {what} (opens {host})", "图片：{what}（打开 {host}）"],
  back: ["Back to the files", "返回文件列表"],
} as const satisfies Record<string, readonly [string, string]>;
