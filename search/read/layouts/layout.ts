import type { SourceFormat } from '../formats/format-of.ts';
import type { IncludeSyntax } from '../formats/includes.ts';
import type { References } from '../formats/rst-labels.ts';
import type { Navigation } from '../navigation.ts';
import type { SourceFile } from '../source-file.ts';

export type SourceFiles = ReadonlyMap<string, SourceFile>;

/** Where a page is published. */
export interface PageLocation {
  /** Path below the site, without leading slash; the suffix of the layout follows. */
  path: string;
  /** Its URL, if it is not published on the site itself. */
  url?: string;
  language?: string;
  /** Languages into which it is not translated, so that the site shows it as it is. */
  shownIn?: string[];
  version?: string;
  /** Titles of its folders or sections, from the top down. */
  groups?: string[];
  /** Position that is used if the navigation states none. */
  order?: number;
}

/** A page's file, and what its front matter states. */
export interface LayoutFile {
  path: string;
  values: Record<string, unknown>;
}

/** How a documentation tool arranges its source files, and what it adds to their markup. */
export interface Layout {
  /** Name of the tool; null for a folder of pages that none arranges. */
  name: string | null;
  navigation: Navigation;
  /** Configuration files that could not be read, or only in part, because they compute their values. */
  unread?: readonly string[];
  /** Settings that all pages depend on, so that their change re-reads every page. */
  settings?: unknown;
  /** End of all published addresses, such as `.html`. */
  suffix?: string;
  /** Files are pages in JSON, as `FrontMatter`. */
  isParsed?: boolean;
  /** Markdown files are MDX, too. */
  isMdx?: boolean;
  /** Pages that the tool makes of others: translations. */
  added?: readonly SourceFile[];
  /** Returns null for a file that is not published. */
  locate(file: LayoutFile): PageLocation | null;
  /** Include directives, if they differ from those of the format or look for files elsewhere. */
  includes?: Partial<Record<SourceFormat, IncludeSyntax>>;
  /** Adds to a page what the tool adds to all of them, before includes are resolved. */
  complete?(text: string, path: string): string;
  /** Returns the function that translates the texts of a page's source; undefined for a page that is not translated. */
  translate?(path: string): ((text: string) => string | null) | undefined;
  /** Returns the file to which a link from another page leads: the one in its language. */
  linked?(file: string, from: string): string;
  /** Converts what is not plain Markdown, AsciiDoc or reStructuredText: admonitions, tabs, variables. */
  prepare?(text: string, file: LayoutFile, references: References): string;
  /** AsciiDoc attributes of a file. */
  attributesOf?(file: string): Record<string, string>;
  /** The navigation is also read from this page, which is therefore always read. */
  isNavigation?(file: LayoutFile, text: string): boolean;
  /** Substitutions of reStructuredText that all pages share. */
  substitutions?: ReadonlyMap<string, string>;
  /** Finds what references of reStructuredText or MyST name in other files, which are read for it. */
  references?: {
    section(label: string): Target | null;
    document(name: string, from: string): Target | null;
  };
}

/** A section of a file, or the whole of it. */
export interface Target {
  /** Null for text that is no section. */
  title: string | null;
  file: string;
  anchor?: string;
}

/** Recognizes a layout by its configuration file; null if the files have another one. */
export type RecognizeLayout = (files: SourceFiles) => Layout | null;
