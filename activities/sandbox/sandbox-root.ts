/** A file system that commands see instead of the machine's programs, read-only. Plain data. */
export interface SandboxRoot {
  /** Names its content. */
  id: string;
  /** Folder that holds it. */
  directory: string;
  /** Its top-level folders and links; everything else of the folder is left out. */
  entries: readonly { path: string; link: string | null }[];
  /** Path of its shell. */
  shell: string;
  /** Environment variables that its programs expect. */
  variables: Readonly<Record<string, string>>;
}
