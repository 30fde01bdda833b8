import { Link } from '@tanstack/react-router';
import { count } from '../format.ts';
import { anchorOf } from '../jobs/timeline/timeline.ts';
import { subjectOf } from '../jobs/timeline/tool-call.tsx';
import { headline, plain } from '../plain.ts';
import type { Compared } from './compared-facts.tsx';

const maxSteps = 200;

/** Lists the steps of a job with the tools they called. Each leads to its place on the job's page. */
export function ComparedSteps({ name, compared }: { name: string; compared: Compared }) {
  const { projectId, job, steps } = compared;
  return (
    <section aria-label={`Steps, ${name}`}>
      <p className="hint">{name}</p>
      {steps.length === 0 && <p className="quiet">No steps.</p>}
      <ol className="compared-steps">
        {steps.slice(0, maxSteps).map((step) => (
          <li key={anchorOf(step)}>
            <Link to="/jobs/$projectId/$id" params={{ projectId, id: job.id }} hash={anchorOf(step)}>
              Turn {step.turn}, step {step.step}
            </Link>
            <ul>
              {step.toolCalls.map(({ toolCallId, toolName, input, isError }) => (
                <li key={toolCallId}>
                  <code>{plain(toolName)}</code> {headline(plain(subjectOf(input)), 100)}
                  {isError && <span className="badge badge-bad">failed</span>}
                </li>
              ))}
            </ul>
          </li>
        ))}
      </ol>
      {steps.length > maxSteps && <p className="hint">{count(steps.length - maxSteps)} more steps not shown.</p>}
    </section>
  );
}
