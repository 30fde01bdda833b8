import { useMutation } from '@tanstack/react-query';
import { ActionForm } from '../components/action-form.tsx';
import { Choice } from '../components/choice.tsx';
import { amountOf, Check, Field, fieldsOf, linesOf } from '../components/fields.tsx';
import { useDraft } from '../drafts.ts';
import { answerOf, api } from '../http/client.ts';
import type { Key } from '../http/types.ts';

type CaptchaChoice = NonNullable<Key['captcha']> | 'none';

const captchaChoices = [
  ['none', 'none'],
  ['turnstile', 'Cloudflare Turnstile'],
  ['hcaptcha', 'hCaptcha'],
] as const;

interface RulesDraft {
  /** One per line. */
  allowedOrigins: string;
  allowsNoOrigin: boolean;
  proofOfWork: boolean;
  requestsPerMinute: string;
  requestsPerDay: string;
}

export const noRules: RulesDraft = {
  allowedOrigins: '',
  allowsNoOrigin: false,
  proofOfWork: false,
  requestsPerMinute: '',
  requestsPerDay: '',
};

/** Returns the fields of a request. */
export function rulesOf({ allowedOrigins, requestsPerMinute, requestsPerDay, ...rules }: RulesDraft) {
  return {
    allowedOrigins: linesOf(allowedOrigins),
    requestsPerMinute: amountOf(requestsPerMinute),
    requestsPerDay: amountOf(requestsPerDay),
    ...rules,
  };
}

/** Shows the fields for where and how an assistant key may be used. */
export function KeyRuleFields({
  draft,
  onChange,
}: {
  draft: RulesDraft;
  onChange(changed: Partial<RulesDraft>): void;
}) {
  const field = fieldsOf(draft, onChange);
  return (
    <>
      <Field
        label="Allowed websites, one origin per line"
        {...field('allowedOrigins')}
        rows={3}
        isCode
        placeholder="https://docs.example.com"
        hint="Empty for all. In https://*.example.com, * stands for one name."
      />
      {draft.allowedOrigins.trim() !== '' && (
        <Check label="Also allow requests from no website, such as servers and agents" {...field('allowsNoOrigin')} />
      )}
      <Check label="Require a proof of work to make scripted use expensive" {...field('proofOfWork')} />
      <p className="hint">
        The widget and @docket/react solve it automatically. Other clients must solve it themselves.
      </p>
      <div className="field-pair">
        <Field label="Requests per minute" {...field('requestsPerMinute')} type="number" placeholder="no limit" />
        <Field label="Requests per day" {...field('requestsPerDay')} type="number" placeholder="no limit" />
      </div>
    </>
  );
}

/** Shows where and how an assistant key may be used, and changes it. */
export function KeyRules({ row, onSaved }: { row: Key; onSaved(): unknown }) {
  const { id, allowedOrigins, allowsNoOrigin, proofOfWork, requestsPerMinute, requestsPerDay } = row;
  const captchaChoice: CaptchaChoice = row.captcha ?? 'none';
  const draft = useDraft(`rules of ${id}`, {
    allowedOrigins: allowedOrigins.join('\n'),
    allowsNoOrigin,
    proofOfWork,
    requestsPerMinute: requestsPerMinute?.toString() ?? '',
    requestsPerDay: requestsPerDay?.toString() ?? '',
    captcha: captchaChoice,
    captchaSecret: '',
  });
  const { captcha, captchaSecret, ...rules } = draft.values;
  const save = useMutation({
    mutationFn: () =>
      draft.send(async () => {
        const secret = captchaSecret.trim();
        const changed = captcha === 'none' ? null : { provider: captcha, secret };
        const isSame = captcha === captchaChoice && secret === '';
        const body = { ...rulesOf(rules), ...(isSame ? {} : { captcha: changed }) };
        await answerOf(api.PATCH('/v1/keys/{id}', { params: { path: { id } }, body }));
        await onSaved();
      }),
  });
  const field = fieldsOf(draft.values, draft.change);
  return (
    <details className="inner">
      <summary>
        {allowedOrigins.length === 0 ? 'Any website' : allowedOrigins.join(', ')}
        {proofOfWork && ', with a proof of work'}
        {row.captcha !== null && ', with a CAPTCHA'}
      </summary>
      <ActionForm label="Save" action={save} draft={draft} name="Rules of the key">
        <KeyRuleFields draft={rules} onChange={draft.change} />
        <div className="field-pair">
          <Choice label="CAPTCHA" {...field('captcha')} options={captchaChoices} />
          {captcha !== 'none' && (
            <Field
              label="Secret key of its provider"
              {...field('captchaSecret')}
              name="captcha.secret"
              type="password"
              isRequired={captcha !== row.captcha}
              placeholder={captcha === row.captcha ? 'unchanged' : ''}
            />
          )}
        </div>
      </ActionForm>
    </details>
  );
}
