import type { JSONSchema7 } from '@ai-sdk/provider';
import type { z } from 'zod';
import type { PinnedTool } from '../mcp/pinned-tools.ts';
import type { ImageRef, NamedImage } from '../../db/jobs/job-images.ts';
import type { CommandEnd } from '../sandbox/running-command.ts';
import type { CommitHistory } from '../workspaces/commit-history.ts';
import type { LeftOut } from '../workspaces/untracked-paths.ts';
import type { PageFetcher } from './fetch/fetch-page.ts';
import type { SkillReader } from './skill-tool.ts';

export interface ToolContext {
  /** Absolute path of the tree. Tools access nothing outside it. */
  root: string;
  signal: AbortSignal;
  /** Masks the known secrets, before an output is cut: of a short one, a part is not recognized. All outputs are masked later. */
  maskSecrets?(text: string): string;
  /** Returns why a path stays out of the pull request. Absent without a git repository. */
  leftOut?(path: string): Promise<LeftOut>;
  /** Returns the paths that ignore rules cover, whole folders as one. Absent without a git repository. */
  ignoredPaths?(): Promise<ReadonlySet<string>>;
  /** Returns the paths that the calls of this answer have added, whole folders as one. Absent without a git repository. */
  newPaths?(): Promise<ReadonlySet<string>>;
  /** Git's history of the repository. Absent without a git repository. */
  history?: CommitHistory;
  /** Calls a tool of an MCP server. */
  callServer?: CallServer;
  /** Shows images to the model. Absent where it cannot see any. */
  showImage?: ShowImage;
  /** Fetches web pages. */
  fetchPage?: PageFetcher;
  /** Reads the skills of the turn. */
  readSkill?: SkillReader;
  /** Etags of the files that calls of this answer have changed, with those that the files had before. */
  formerEtags?: Map<string, string>;
  /** The id of the call, as the model named it. */
  toolCallId?: string;
  /**
   * Runs a shell command in the tree with a time limit. Returns null when the time for commands is used up. Absent
   * without a sandbox.
   */
  runCommand?(call: CommandCall): Promise<CommandEnd | null>;
}

export interface CommandCall {
  command: string;
  timeoutMs: number;
  /** The call whose output the command prints, for people who watch. */
  toolCallId: string | null;
  /** First line of that output. */
  heading?: string;
}

export interface ToolOutput {
  /** The output for the model; at most 50 KB. */
  text: string;
  isError: boolean;
  /** An image that the model sees after the text. */
  image?: ImageRef;
}

/** Stores an image for the model; null when the job has room for no more. */
export type ShowImage = (image: NamedImage) => Promise<ImageRef | null>;

/** Calls a tool of an MCP server; every failure of the server is an output. */
export type CallServer = (pinned: PinnedTool, input: Record<string, unknown>, callId: string) => Promise<ToolOutput>;

/** A tool of the agent. Errors that a model can act on are outputs; everything else is thrown. */
export interface AgentTool {
  description: string;
  inputSchema: z.ZodType;
  /** JSON schema that the model reads instead of `inputSchema`. */
  jsonSchema?: JSONSchema7;
  /** Read-only tools may run concurrently; the others run one after another in the order of the calls. */
  isReadOnly: boolean;
  run(input: unknown, context: ToolContext): Promise<ToolOutput>;
}

/**
 * Tools by name: read, write, edit, multi_edit, delete, move, list, glob, grep, log, blame, show, diff, skill, fetch, todo,
 * ask, finish, and run if there is a sandbox; and those of MCP servers.
 */
export type Toolset = Record<string, AgentTool>;
