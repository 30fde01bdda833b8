/** Every release of the AI SDK that is driven; `latest` is the one the service itself uses. */
export const sdkVersions = [
  '4.0.1',
  '4.1.15',
  '4.3.19',
  '5.0.0',
  '5.0.216',
  '5.0.277',
  '6.0.0',
  '6.0.230',
  '6.0.322',
  '7.0.10',
  'latest',
] as const;

export type SdkVersion = (typeof sdkVersions)[number];

export interface SdkClientOptions {
  version: SdkVersion;
  service: { baseUrl: string; domain: string; assistantKey: string };
  /** Messages of an earlier client, restored from JSON. */
  messages?: unknown[];
  threadId?: string | null;
  /** v4 only: `sendExtraMessageFields`, true by default. */
  sendsExtraFields?: boolean;
}

export interface ShownSource {
  url: string;
  title: string;
}

/** A client of the assistant as an application sees it: the SDK's own code does all the rest. */
export interface SdkClient {
  /** Resolves when the request is over, however it ended; only then are `error` and `status` final. */
  ask(question: string, options?: { key?: string }): Promise<void>;
  stop(): Promise<void>;
  /** Resolves as soon as the reply shows the words; rejects when the request ends without them. */
  untilShown(words: string): Promise<void>;
  /** Text of the last message if it is the assistant's, else ''. */
  text(): string;
  sources(): ShownSource[];
  /** Returns the thread id in each place where this version can read it; null where there is none. */
  threadPlaces(): Record<string, string | null>;
  /** Returns the error that an application would show; null when the last request succeeded. */
  error(): string | null;
  status(): 'ready' | 'busy' | 'error';
  roles(): string[];
  /** Returns what an application would store. */
  saved(): unknown[];
  /** Returns the number of requests so far, including the SDK's automatic ones. */
  requestCount(): number;
}

/** Name of the package a version is installed under. */
export function packageOf(version: SdkVersion): string {
  return version === 'latest' ? 'ai' : `ai-${version.replaceAll('.', '-')}`;
}
