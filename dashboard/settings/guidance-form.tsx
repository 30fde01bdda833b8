import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from 'react-aria-components';
import { ActionForm } from '../components/action-form.tsx';
import { Field } from '../components/fields.tsx';
import { Loaded } from '../components/loaded.tsx';
import { answerOf, api } from '../http/client.ts';
import type { Guidance } from '../http/types.ts';
import { queryClient } from '../queries.ts';

/** Shows a form for the instructions and skills of a project's agents. */
export function GuidancePanel({ projectId }: { projectId: string }) {
  const params = { path: { id: projectId } };
  const queryKey = ['guidance', projectId];
  const guidance = useQuery({
    queryKey,
    queryFn: () => answerOf(api.GET('/v1/projects/{id}/guidance', { params })),
  });
  return (
    <Loaded query={guidance} problem="Instructions could not be loaded">
      {(guidance) => (
        <GuidanceForm
          guidance={guidance}
          save={async (body) => {
            const saved = await answerOf(api.PATCH('/v1/projects/{id}/guidance', { params, body }));
            queryClient.setQueryData(queryKey, saved);
          }}
        />
      )}
    </Loaded>
  );
}

const newSkill = { name: '', description: '', content: '' };

function GuidanceForm({ guidance, save }: { guidance: Guidance; save(guidance: Guidance): Promise<void> }) {
  const [instructions, setInstructions] = useState(guidance.instructions ?? '');
  const [skills, setSkills] = useState(guidance.skills);
  const action = useMutation({ mutationFn: () => save({ instructions: instructions.trim() || null, skills }) });
  const change = (at: number, part: Partial<typeof newSkill>) =>
    setSkills(skills.map((skill, position) => (position === at ? { ...skill, ...part } : skill)));
  return (
    <ActionForm label="Update instructions" action={action}>
      <h3>Instructions and skills</h3>
      <Field
        label="Instructions for agents"
        value={instructions}
        onChange={setInstructions}
        rows={4}
        hint="Part of the prompt of every job, before the repository's AGENTS.md."
      />
      {skills.map((skill, at) => (
        <details key={at} className="inner" open={at >= guidance.skills.length}>
          <summary>Skill {skill.name}</summary>
          <div className="form">
            <Field label="Name" value={skill.name} onChange={(name) => change(at, { name })} isRequired isCode />
            <Field
              label="When it applies"
              value={skill.description}
              onChange={(description) => change(at, { description })}
              isRequired
            />
            <Field
              label="What to do, in Markdown"
              value={skill.content}
              onChange={(content) => change(at, { content })}
              rows={6}
              isRequired
            />
            <Button className="button" onPress={() => setSkills(skills.filter((_, position) => position !== at))}>
              Remove skill
            </Button>
          </div>
        </details>
      ))}
      <div className="actions">
        <Button className="button" onPress={() => setSkills([...skills, newSkill])}>
          Add skill
        </Button>
      </div>
    </ActionForm>
  );
}
