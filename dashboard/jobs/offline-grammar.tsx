import { Button } from 'react-aria-components';

export const sentences = [
  ['Replace "a" with "b" in PATH', 'every occurrence in one file'],
  ['Replace "a" with "b" everywhere', 'every occurrence in all files'],
  ['Create PATH with "text"', 'a new file; \\n is a line break'],
  ['Append "text" to PATH', 'at the end of the file'],
  ['Delete PATH', 'a file or a folder'],
  ['Rename PATH to PATH', 'a file or a folder'],
  ['Run "command"', 'a shell command, where commands may run'],
] as const;

/** Returns where the first placeholder of a sentence begins and ends, without its quotes. */
export function placeholderOf(sentence: string): { start: number; end: number } {
  const found = /(?<=")\w+(?=")|PATH/.exec(sentence);
  const start = found?.index ?? sentence.length;
  return { start, end: start + (found?.[0].length ?? 0) };
}

/** Returns the sentence with a path instead of the first PATH, if it leaves the file where it is. */
export function withPath(sentence: string, path: string | undefined): string {
  return path !== undefined && /^(?:Replace|Append)/.test(sentence) ? sentence.replace('PATH', () => path) : sentence;
}

interface OfflineGrammarProps {
  /** A file of the repository, for the examples. */
  path: string | undefined;
  onUse(sentence: string): void;
}

/** Lists the instructions that the offline model understands. */
export function OfflineGrammar({ path, onUse }: OfflineGrammarProps) {
  return (
    <details className="grammar" open>
      <summary>
        No model is configured: <code>offline/editor</code> does what these sentences say
      </summary>
      <dl>
        {sentences
          .map(([general, meaning]) => [withPath(general, path), meaning] as const)
          .map(([sentence, meaning]) => (
            <div key={sentence}>
              <dt>
                <code>{sentence}</code>
              </dt>
              <dd>
                <span>{meaning}</span>
                <Button
                  className="button button-quiet"
                  aria-label={`Use “${sentence}”`}
                  onPress={() => onUse(sentence)}
                >
                  Use
                </Button>
              </dd>
            </div>
          ))}
      </dl>
      <p className="hint">
        Several sentences make one job. Set <code>DOCKET_AGENT_MODEL</code> and a provider key for a real model.
      </p>
    </details>
  );
}
