import type { ReactNode } from 'react';
import { Form } from 'react-aria-components';
import { Submit } from './fields.tsx';

interface ActionFormProps {
  /** On the button that sends the form. */
  label: string;
  action: { isPending: boolean; isError: boolean; isSuccess: boolean; error: unknown; mutate(): void };
  children: ReactNode;
  /** A name, which makes the form a landmark of the page. */
  name?: string;
}

/** A form that does one thing: its fields, why it was refused, and its button. */
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
