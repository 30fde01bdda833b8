import { useState } from 'react';
import type { Vote } from '../chat-state.ts';
import type { Labels } from '../labels.ts';

interface FeedbackProps {
  vote: Vote | null;
  labels: Labels;
  onRate(vote: Vote): Promise<void>;
}

/** Asks whether an answer helped and, if not, why. */
export function Feedback({ vote, labels, onRate }: FeedbackProps) {
  const [status, setStatus] = useState('');
  const [reasons, setReasons] = useState<string[]>([]);
  const [comment, setComment] = useState('');
  const [isExplaining, setIsExplaining] = useState(false);
  const rate = async (next: Vote) => {
    try {
      await onRate(next);
      setStatus(labels.thanks);
    } catch {
      setStatus(labels.feedbackFailed);
    }
  };
  return (
    <div className="docket-feedback" role="group" aria-label={labels.feedback}>
      <span className="docket-quiet" aria-hidden="true">
        {labels.feedback}
      </span>
      {(['up', 'down'] as const).map((direction) => (
        <button
          key={direction}
          type="button"
          className="docket-button"
          aria-pressed={vote?.vote === direction}
          onClick={() => {
            setIsExplaining(direction === 'down');
            void rate({ vote: direction });
          }}
        >
          {direction === 'up' ? labels.yes : labels.no}
        </button>
      ))}
      <span role="status" className="docket-quiet">
        {status}
      </span>
      {isExplaining && (
        <div className="docket-reasons" role="form" aria-label={labels.whatIsWrong}>
          {labels.reasons.map((reason) => (
            <label key={reason}>
              <input
                type="checkbox"
                checked={reasons.includes(reason)}
                onChange={({ currentTarget: { checked } }) =>
                  setReasons(checked ? [...reasons, reason] : reasons.filter((other) => other !== reason))
                }
              />
              {reason}
            </label>
          ))}
          <textarea
            aria-label={labels.whatIsMissing}
            placeholder={labels.whatIsMissing}
            maxLength={2_000}
            rows={2}
            value={comment}
            onInput={(event) => setComment(event.currentTarget.value)}
          />
          <button
            type="button"
            className="docket-button"
            onClick={() => {
              if (reasons.length === 0 && comment.trim() === '') return;
              setIsExplaining(false);
              void rate({ vote: 'down', reasons, comment: comment.trim() });
            }}
          >
            {labels.send}
          </button>
        </div>
      )}
    </div>
  );
}
