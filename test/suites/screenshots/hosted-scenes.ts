import { answerOf } from '../../../cli/http/api.ts';
import type { FakeBlock } from '../../support/forges/fake-forge.ts';
import { createHostedProject, withoutMergeGrant, type HostedForge } from '../../support/forges/hosted-forge.ts';
import { finish, startSampleJob, step, write, type Stage } from './jobs.ts';
import type { Scene } from './scene.ts';

interface HostedStage extends Stage {
  forge: HostedForge;
  modelName: string;
}

interface HostedScenes {
  scenes: Scene[];
  /** Takes the grant to merge from the organization, and returns the page that says so. */
  withoutGrant(): Promise<Scene[]>;
}

const files = { 'README.md': '# Lamp website\n\nThe pages of lamp.example.\n' };

/** Returns the pages of pull requests on another forge, one in each state. */
export async function createHostedScenes({ forge, modelName, ...stage }: HostedStage): Promise<HostedScenes> {
  const projectId = await createHostedProject(forge, { api: stage.api, model: modelName, name: 'website', files });
  const open = async (title: string, path: string) => {
    const job = await startSampleJob(stage, {
      projectId,
      prompt: `${title}.`,
      replies: [
        step('The site has no such page yet.', write(path, `# ${title}\n\nWrite to press@lamp.example.\n`)),
        finish(title, `Added \`${path}\`.`),
      ],
    });
    return `/pulls/${job.details.pullRequest?.id}`;
  };
  const [ready, rules, conflict, merged] = [
    await open('Add a page for the press', 'press.md'),
    await open('Say how the site counts visits', 'privacy.md'),
    await open('List the shops that sell lamps', 'shops.md'),
    await open('Fix the address of the office', 'office.md'),
  ];
  const pulls = forge.github.pullRequests('acme/website');
  const block = (number: number, blocked: FakeBlock) => Object.assign(pulls[number - 1] ?? {}, { blocked });
  block(2, 'rules');
  block(3, 'conflict');
  const params = { path: { id: merged.slice('/pulls/'.length) } };
  await answerOf(stage.api.POST('/v1/pull-requests/{id}/merge', { params, body: { method: 'squash' } }));
  const scenes = [
    scene('hosted-pull-request', ready, 'No conflicts with main'),
    scene('hosted-rules', rules, 'Merging is blocked.'),
    scene('hosted-conflict', conflict, 'Conflicts with main.'),
    scene('hosted-merged', merged, 'Merged into main'),
  ];
  return {
    scenes,
    async withoutGrant() {
      await withoutMergeGrant(forge, { ...stage, projectId });
      return [scene('hosted-access', ready, 'Docket lacks permission to merge.')];
    },
  };
}

function scene(name: string, path: string, text: string): Scene {
  return { name, path, prepare: (page) => page.getByRole('status').getByText(text).waitFor() };
}
