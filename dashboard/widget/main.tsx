import { createRoot } from 'react-dom/client';
import chatStyles from './chat.css?inline';
import { createClient } from './client.ts';
import { createConversation } from './conversation.ts';
import { isHotkey } from './hotkey.ts';
import { createPanel } from './panel.ts';
import { Widget } from './widget.tsx';
import { optionsOfScript, settingsOf, type WidgetOptions, type WidgetSettings } from './widget-options.ts';
import widgetStyles from './widget.css?inline';

/** API of `window.Docket` for the page's scripts. */
export interface DocketWidget {
  /** Opens the chat, and asks a question if one is given. */
  open(options?: { question?: string }): void;
  close(): void;
  /**
   * Starts the widget with options; for pages whose script tag names no site. Without `baseUrl`, Docket is where the
   * script comes from.
   */
  init(options: Omit<WidgetOptions, 'baseUrl'> & { baseUrl?: string }): void;
  /** Removes the widget from the page. Its conversation stays until the tab is closed. */
  remove(): void;
}

declare global {
  interface Window {
    Docket?: DocketWidget;
  }
}

interface Mounted extends Pick<DocketWidget, 'open' | 'close'>, Disposable {}

function mount(settings: WidgetSettings): Mounted {
  const client = createClient(settings);
  const conversation = createConversation({ client, storage: sessionStorageOrNull() });
  const panel = createPanel();

  const host = document.createElement('docket-chat');
  host.dataset['theme'] = settings.theme;
  host.dir = settings.dir === 'auto' ? getComputedStyle(document.documentElement).direction : settings.dir;
  const shadow = host.attachShadow({ mode: 'open' });
  // an adopted sheet needs no permission of the page's security policy
  shadow.adoptedStyleSheets = [chatStyles, widgetStyles].map((text) => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(text);
    return sheet;
  });
  // some sites replace the body when they navigate, or style its children
  document.documentElement.append(host);
  const root = createRoot(shadow);
  root.render(<Widget settings={settings} client={client} conversation={conversation} panel={panel} />);

  const onKeyDown = (event: KeyboardEvent) => {
    if (!isHotkey(event, settings.hotkey)) return;
    event.preventDefault();
    panel.open();
  };
  document.addEventListener('keydown', onKeyDown);

  const { status } = conversation.state();
  if (status === 'submitted' || status === 'streaming') {
    panel.open();
    void conversation.resume();
  }

  return {
    open({ question } = {}) {
      panel.open();
      if (question !== undefined && question.trim() !== '') {
        void conversation.ask(question.trim(), { currentPath: location.pathname });
      }
    },
    close: panel.close,
    [Symbol.dispose]() {
      document.removeEventListener('keydown', onKeyDown);
      root.unmount();
      host.remove();
    },
  };
}

/** Reading `sessionStorage` throws where the browser forbids storage. */
function sessionStorageOrNull(): Storage | null {
  try {
    return sessionStorage;
  } catch {
    return null;
  }
}

function start(script: HTMLScriptElement | null): void {
  if (window.Docket !== undefined) return;
  let mounted: Mounted | null = null;
  const docket: DocketWidget = {
    open: (options) => mounted?.open(options),
    close: () => mounted?.close(),
    init(options) {
      mounted?.[Symbol.dispose]();
      const { baseUrl = new URL('.', script?.src ?? document.baseURI).href } = options;
      mounted = mount(settingsOf({ ...options, baseUrl }));
    },
    remove() {
      mounted?.[Symbol.dispose]();
      mounted = null;
    },
  };
  window.Docket = docket;
  const options = script === null ? null : optionsOfScript(script);
  if (options === null) return;
  if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', () => docket.init(options));
  else docket.init(options);
}

start(document.currentScript instanceof HTMLScriptElement ? document.currentScript : null);
