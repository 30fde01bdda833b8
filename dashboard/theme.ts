import { createListeners } from './widget/listeners.ts';

export const themes = ['system', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

const key = 'docket-theme';

/** Returns the theme that was chosen in this browser. */
export function storedTheme(): Theme {
  const stored = localStorage.getItem(key);
  return themes.find((theme) => theme === stored) ?? 'system';
}

const listeners = createListeners();
/** Calls back when a theme is applied. Returns a function that ends this. */
export const onTheme = listeners.add;

/** Applies a theme and stores it. */
export function applyTheme(theme: Theme): void {
  localStorage.setItem(key, theme);
  if (theme === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme;
  listeners.call();
}
