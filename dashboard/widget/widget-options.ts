import type { ClientOptions } from './client.ts';
import { defaultLabels, type Labels } from './labels.ts';

export interface WidgetOptions extends ClientOptions {
  /** Base of relative links: the URL of the documentation. By default the page's own URL. */
  pagesUrl?: string;
  theme?: 'light' | 'dark' | 'auto';
  dir?: 'ltr' | 'rtl' | 'auto';
  /** Keys that open the chat, such as `mod+i` (⌘ on a Mac, Ctrl elsewhere); `none` for no keys. */
  hotkey?: string;
  /** Whether the page shows the button that opens the chat. */
  button?: boolean;
  /** Questions to start with; by default those of the site. */
  questions?: string[];
  labels?: Partial<Labels>;
}

export type WidgetSettings = Required<
  Omit<WidgetOptions, 'user' | 'readerToken' | 'captcha' | 'labels' | 'questions'>
> &
  Pick<ClientOptions, 'user' | 'readerToken' | 'captcha'> & { labels: Labels; questions: string[] | null };

/**
 * Reads the options of the script tag. Returns null when it names neither site nor key, so that the page calls
 * `Docket.init`. Throws when it names one of them, which the console then shows.
 */
export function optionsOfScript(script: HTMLScriptElement): WidgetOptions | null {
  const { site, key, baseUrl, user, pagesUrl, theme, dir, hotkey, button, questions } = script.dataset;
  if (site === undefined || key === undefined) {
    if (site !== key) throw new Error('Docket: the script tag of the chat requires both data-site and data-key.');
    return null;
  }
  return {
    baseUrl: baseUrl ?? new URL('.', script.src).href,
    site,
    apiKey: key,
    ...(user === undefined ? {} : { user }),
    ...(pagesUrl === undefined ? {} : { pagesUrl }),
    ...(theme === 'light' || theme === 'dark' ? { theme } : {}),
    ...(dir === 'ltr' || dir === 'rtl' ? { dir } : {}),
    ...(hotkey === undefined ? {} : { hotkey }),
    ...(button === 'none' ? { button: false } : {}),
    ...(questions === undefined ? {} : { questions: questions.split('|').map((question) => question.trim()) }),
  };
}

/** Completes options with defaults. */
export function settingsOf(options: WidgetOptions): WidgetSettings {
  return {
    pagesUrl: document.baseURI,
    theme: 'auto',
    dir: 'auto',
    hotkey: 'mod+i',
    button: true,
    questions: null,
    ...options,
    labels: { ...defaultLabels, ...options.labels },
  };
}
