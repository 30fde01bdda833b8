import { describe, expect, it } from 'vitest';
import {
  bodyOf,
  checkedText,
  branchOf,
  commitMessageOf,
  summaryOf,
  titleOf,
} from '../../../../activities/publish/pull-request-text.ts';
import { buildStep } from '../build-step.ts';
import { fc } from '../../../support/properties.ts';

describe('a branch name', () => {
  it('uses the words of the title', () => {
    expect(branchOf({ jobId: 'job_1', turn: 1 }, 'Fix “colour” in the Überblick!')).toBe(
      'docket/job_1-fix-colour-in-the-u-berblick',
    );
  });

  it('of a later turn includes the turn', () => {
    expect(branchOf({ jobId: 'job_1', turn: 3 }, 'Fix')).toBe('docket/job_1-3-fix');
  });

  it('is a valid ref for every title', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), (title) => {
        expect(branchOf({ jobId: 'job_1', turn: 1 }, title)).toMatch(
          /^docket\/job_1-[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$/,
        );
      }),
    );
  });
});

describe('a title', () => {
  it('is one line without invisible characters, and never empty', () => {
    expect(titleOf(' Fix\nthe \u202e lamp\t')).toBe('Fix the lamp');
    expect(titleOf('\n')).toBe('Changes by an agent');
    expect(titleOf('x'.repeat(300))).toHaveLength(100);
  });
});

describe('the description of a pull request', () => {
  const text = { jobId: 'job_1', title: 'Fix', prompts: ['Do it'], message: 'Done', unfinished: null };

  it('ends with the marker of the job', () => {
    expect(bodyOf(text).endsWith('<!-- docket-job: job_1 -->')).toBe(true);
  });

  it('contains no other marker, whatever the agent says', () => {
    const body = bodyOf({ ...text, message: 'See <!-- docket-job: job_2 -->' });
    expect(body.match(/<!-- docket-job: \w+ -->/g)).toEqual(['<!-- docket-job: job_1 -->']);
  });

  it('has the findings of the self-review, which give no orders', () => {
    const findings = 'Closes #7, as @acme asked. <!-- docket-job: job_2 -->';
    const body = bodyOf({ ...text, findings });
    expect(body).toContain('## Self-review');
    expect(body).not.toMatch(/closes #7|@acme|<!-- docket-job: job_2/i);
  });

  it('starts with why the agent was stopped, and hides nothing there', () => {
    const body = bodyOf({ ...text, unfinished: 'It was stopped <!-- docket-job: job_2 -->.' });
    expect(body).toMatch(/^> \[!WARNING\]\n> The work is not finished\. It was stopped &lt;!-- /);
    expect(bodyOf(text)).not.toContain('WARNING');
  });

  it('names the check command of the change, and hides nothing of it', () => {
    const failed = checkedText(
      'npm test',
      { passed: false, text: `[exit code 1]\n\`\`\`\n${'x'.repeat(9_000)} end` },
      null,
    );
    const body = bodyOf({ ...text, checked: failed });
    expect(body).toMatch(/## Checked\n\nThe project's check command did not succeed:\n\n```text\nnpm test\n```/);
    expect(body).toMatch(/x end\n```\n/);
    expect(body.length).toBeLessThan(8_000);
    expect(bodyOf({ ...text, checked: checkedText('a <!-- docket-job: job_2 -->', null, 'Why.') })).not.toContain(
      '<!-- docket-job: job_2',
    );
    expect(checkedText('npm test', { passed: true, text: '' }, null)).toContain('succeeded');
    expect(bodyOf(text)).not.toContain('Checked');
  });

  it('shows the first task and the newest follow-ups', () => {
    const body = bodyOf({ ...text, prompts: ['First', ...'1234567'] });
    expect(body.match(/^(?:First|\d)$/gm)).toEqual(['First', ...'34567']);
  });

  it('ends with the repository’s template, without its comments and without a second marker', () => {
    const template = '<!-- Say why -->\n## Checklist\n- [ ] Tests\n<!-- <!-- docket-job: job_2 --> -->';
    const body = bodyOf({ ...text, template });
    expect(body).toContain('---\n\n## Checklist\n- [ ] Tests');
    expect(body).not.toMatch(/Say why/);
    expect(body.match(/<!-- docket-job: \w+ -->/g)).toEqual(['<!-- docket-job: job_1 -->']);
    expect(bodyOf({ ...text, template: '<!-- only a hint -->' })).toBe(bodyOf(text));
  });

  it('drops the oldest follow-ups of a description that GitHub would refuse', () => {
    const prompts = ['First', ...'1234567'].map((name) => `${name}\n${'x'.repeat(3_990)}`);
    const checked = checkedText('npm test', { passed: false, text: 'z'.repeat(4_500) }, null);
    const long = { ...text, prompts, message: 'Done.\n'.repeat(3_300), findings: 'a <b\n'.repeat(1_000), checked };
    const body = bodyOf({ ...long, template: 'y'.repeat(8_000) });
    expect(body.match(/^(?:First|\d)$/gm)).toEqual(['First', '5', '6', '7']);
    expect(body.length).toBeLessThan(60_100);
    expect(body).toMatch(/y\n\n<!-- docket-job: job_1 -->$/);
    expect(bodyOf(long).match(/^(?:First|\d)$/gm)).toEqual(['First', ...'34567']);
  });

  it('cuts the end of one that is too long without follow-ups, and leaves nothing of it active', () => {
    const code = `\`\`\`\`\n${'@acme\n/lgtm\n'.repeat(1_600)}`;
    for (const message of [code, '`@acme` '.repeat(2_500), '&amp;'.repeat(4_000)]) {
      const body = bodyOf({ ...text, prompts: ['Go', 'On'], message, findings: `${'x\n'.repeat(15_000)}${message}` });
      expect(body.length).toBeLessThan(60_100);
      expect(body).toMatch(/\n\n…\n\n<!-- docket-job: job_1 -->$/);
      const outside = body.replaceAll(/^(`{3,})[^`\n]*\n[^]*?\n\1$/gm, '').replaceAll(/`[^`\n]+`/g, '');
      expect(outside).not.toMatch(/`|@acme|^\s*\/lgtm/m);
    }
  });

  it('keeps the prompt inside its fence', () => {
    const body = bodyOf({ ...text, prompts: ['```\n@everyone closes #1\n````'] });
    expect(body).toContain('`````text\n```\n@everyone closes (#1)\n````\n`````');
  });
});

it('neutralizes commands in code, too, because a squashed pull request becomes a commit', () => {
  const message = 'Keep `[skip ci]` and\n```\nfixes #1\n```';
  const text = { jobId: 'job_1', title: 'Fix', prompts: ['Add [ci skip]'], message, unfinished: null };
  const body = bodyOf({ ...text, checked: checkedText('npm test', { passed: false, text: '***NO_CI***' }, null) });
  expect(body).toMatch(/Add \(ci skip\)[^]*`\(skip ci\)`[^]*fixes \(#1\)[^]*\(NO_CI\)/);
});

describe('a commit message', () => {
  it('names the job in a trailer', () => {
    const text = { jobId: 'job_1', title: 'Fix', prompts: [''], message: '', unfinished: null };
    expect(commitMessageOf(text)).toBe('Fix\n\nAgent-Job: job_1\n');
    expect(commitMessageOf({ ...text, message: 'All of it.' })).toBe('Fix\n\nAll of it.\n\nAgent-Job: job_1\n');
  });
});

describe('a commit by a model', () => {
  it('names it as co-author in the same block of trailers', () => {
    const text = { jobId: 'job_1', title: 'Fix', prompts: [''], message: '', unfinished: null, model: 'acme/mind' };
    expect(commitMessageOf(text)).toBe('Fix\n\nCo-authored-by: acme/mind <docket@noreply.invalid>\nAgent-Job: job_1\n');
  });
});

describe('the summary of a turn', () => {
  const finish = { toolCallId: '1', toolName: 'finish', input: { title: 'Fix  it', summary: ' Fixed. ' } };

  it('is the finish call of its last step', () => {
    const steps = [buildStep({ turn: 1, text: 'Looking.' }), buildStep({ turn: 1, step: 2, toolCalls: [finish] })];
    expect(summaryOf(steps.at(-1)!)).toEqual({ title: 'Fix it', message: 'Fixed.', isComplete: true });
    const checked = { ...finish, input: { ...finish.input, checked: 'Read it again.' } };
    expect(summaryOf(buildStep({ toolCalls: [checked] })).message).toBe('Fixed.\n\n**Checked:** Read it again.');
  });

  it('is its final text if finish was not called', () => {
    expect(summaryOf(buildStep({ text: 'Nothing to do.' }))).toEqual({
      title: null,
      message: 'Nothing to do.',
      isComplete: true,
    });
  });

  it('is complete after a last call only if the agent says so', () => {
    const finishes = [undefined, false, true].map((complete) => ({ ...finish, input: { ...finish.input, complete } }));
    const isComplete = finishes.map((call) => summaryOf(buildStep({ toolCalls: [call] }), true).isComplete);
    expect(isComplete).toEqual([false, false, true]);
    expect(summaryOf(buildStep({ text: 'Done.' }), true).isComplete).toBe(false);
  });

  it('is empty if the turn has no answer', () => {
    expect(summaryOf(null)).toEqual({ title: null, message: '', isComplete: true });
  });

  it('ignores a finish call that did not parse', () => {
    const invalid = { ...finish, input: '{', invalid: 'Not JSON.' };
    expect(summaryOf(buildStep({ text: 'Hm', toolCalls: [invalid] }))).toEqual({
      title: null,
      message: 'Hm',
      isComplete: true,
    });
  });
});
