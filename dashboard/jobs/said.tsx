import { Ago } from '../components/time.tsx';
import { beginning, plain } from '../plain.ts';

const longest = 20_000;

interface SaidProps {
  text: string;
  createdAt: string;
  /** The agent has not read it yet. */
  isWaiting?: boolean;
}

/** What a person said to a job. */
export function Said({ text, createdAt, isWaiting = false }: SaidProps) {
  const { shown, left } = beginning(plain(text), longest);
  return (
    <div className="said">
      <p className="said-head">
        You{' '}
        <span className="quiet">
          <Ago date={createdAt} />
          {isWaiting && ' · the agent reads it before its next step'}
        </span>
      </p>
      <p className="words">{shown}</p>
      {left > 0 && <p className="hint">{left.toLocaleString('en')} more characters not shown.</p>}
    </div>
  );
}
