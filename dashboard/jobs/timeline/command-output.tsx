import { useLayoutEffect, useRef, useState } from 'react';
import { Button } from 'react-aria-components';
import { Copy } from '../../components/copy.tsx';
import { plain } from '../../plain.ts';
import { CancelJob } from '../cancel-job.tsx';
import type { CommandOutput } from './command-outputs.ts';
import type { JobRef } from '../job-queries.ts';

interface CommandOutputProps {
  job: JobRef;
  output: CommandOutput;
  /** Called when the reader stops following, to read what was printed earlier. */
  onRead?(): void;
}

/** Shows what a command prints while it runs. It follows the end until the reader scrolls up. */
export function CommandOutputView({ job, output, onRead }: CommandOutputProps) {
  const pane = useRef<HTMLPreElement>(null);
  const text = plain(output.text);
  const [isFollowing, setFollowing] = useState(true);
  const follow = (isWanted: boolean) => {
    setFollowing(isWanted);
    if (!isWanted) onRead?.();
  };
  useLayoutEffect(() => {
    if (isFollowing && pane.current !== null) pane.current.scrollTop = pane.current.scrollHeight;
  }, [isFollowing, output.text]);
  return (
    <>
      <div className="output-head">
        <h4>Output {text !== '' && <Copy label="output" text={text} />}</h4>
        <Button className="button button-quiet" aria-pressed={isFollowing} onPress={() => follow(!isFollowing)}>
          Follow output
        </Button>
        {output.durationMs === null && <CancelJob job={job} />}
      </div>
      <pre
        ref={pane}
        className="output"
        role="log"
        aria-label="Output"
        aria-live="off"
        tabIndex={0}
        onScroll={({ currentTarget }) => {
          const { scrollTop, clientHeight, scrollHeight } = currentTarget;
          const isAtEnd = scrollHeight - scrollTop - clientHeight < tolerancePx;
          if (isAtEnd !== isFollowing) follow(isAtEnd);
        }}
      >
        {text || 'No output yet.'}
      </pre>
    </>
  );
}

const tolerancePx = 24;
