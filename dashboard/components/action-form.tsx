import type { ReactNode } from 'react';
import { Form } from 'react-aria-components';
import { Submit } from './fields.tsx';

interface ActionFormProps {
  /** Label of the submit button. */
  label: string;
  action: { isPending: boolean; isError: boolean; isSuccess: boolean; error: unknown; mutate(): void };
  children: ReactNode;
  /** Accessible name, which makes the form a landmark of the page. */
  name?: string;
}

/** Shows a form for one action: its fields, the error if it was refused, and the submit button. */
export function ActionForm({ label, action, children, name }: ActionFormProps) {
  return (
    <Form
      className="form"
      {...(name === undefined ? {} : { 'aria-label': name })}
      onSubmit={(event) => {
        event.preventDefault();
        action.mutate();
      }}
    >
      {children}
      <Submit label={label} action={action} />
    </Form>
  );
}
