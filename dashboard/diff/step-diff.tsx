import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { messageOf } from '../http/client.ts';
import { ErrorNote, Loading } from '../components/notes.tsx';
import type { JobRef } from '../jobs/story.ts';
import { DiffView } from './diff-view.tsx';
import { readDiff } from './job-diff.tsx';
import { readPatch, type PatchFile } from './read-patch.ts';

interface Place {
  turn: number;
  step: number;
}

/** The files that a step changed, as the job's change of them stood behind it. */
export function StepDiff({ job, step, before }: { job: JobRef; step: Place; before: Place | null }) {
  const diff = useQuery({
    queryKey: ['step-diff', job.id, step.turn, step.step],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async () => {
      const [behind, earlier] = await Promise.all([readDiff(job, step), before === null ? '' : readDiff(job, before)]);
      return { behind, before: earlier };
    },
  });
  const only = useMemo(() => {
    const known = new Map(readPatch(diff.data?.before ?? '').files.map(({ path, text }) => [path, text]));
    return ({ path, text }: PatchFile) => known.get(path) !== text;
  }, [diff.data]);
  if (diff.isPending) return <Loading />;
  if (diff.isError) return <ErrorNote title="The change could not be read" message={messageOf(diff.error)} />;
  return (
    <>
      <p className="hint">Files this step touched, against the commit the job began at.</p>
      <DiffView patch={diff.data.behind} only={only} />
    </>
  );
}
