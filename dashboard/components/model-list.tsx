import type { Session } from '../http/types.ts';
import { useSession } from './session.tsx';

type Model = Session['models'][number];

/** In cents; some models cost less than one. */
const price = new Intl.NumberFormat('en', { style: 'currency', currency: 'USD', maximumFractionDigits: 4 });

/** For the `list` of a field that names a model. */
export const modelListId = 'models';

/** Lets a field suggest models: each with its price, or with the key that it needs. */
export function ModelList() {
  const { models } = useSession();
  return (
    <datalist id={modelListId}>
      {models.map((model) => (
        <option key={model.name} value={model.name} label={describeModel(model)} />
      ))}
    </datalist>
  );
}

/** Says what a model costs, or why it cannot be used. */
export function describeModel({ inputUsd, outputUsd, problem }: Model): string {
  if (problem !== null) return problem;
  return inputUsd === 0 && outputUsd === 0
    ? 'Free of charge.'
    : `${price.format(inputUsd)} in and ${price.format(outputUsd)} out per million tokens.`;
}
