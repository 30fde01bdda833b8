import { useMutation } from '@tanstack/react-query';
import { Button, Dialog, DialogTrigger, Heading, Modal, ModalOverlay } from 'react-aria-components';
import { Problem } from './fields.tsx';

interface ConfirmProps {
  /** On the button that opens it; with `what` it is the name of the button that does it. */
  label: string;
  what: string;
  title: string;
  text: string;
  act(): Promise<unknown>;
  /** Waited for before the question goes away. */
  onDone(): unknown;
}

/** A button that asks before it does what cannot be taken back. */
export function Confirm({ label, what, title, text, act, onDone }: ConfirmProps) {
  const action = useMutation({ mutationFn: act, onSuccess: onDone });
  return (
    <DialogTrigger>
      <Button className="button button-danger">{label}</Button>
      <ModalOverlay className="overlay" isDismissable>
        <Modal className="modal">
          <Dialog className="dialog" role="alertdialog">
            {({ close }) => (
              <>
                <Heading slot="title">{title}</Heading>
                <p>{text}</p>
                <Problem error={action.error} />
                <div className="actions">
                  <Button
                    className="button button-danger-fill"
                    isDisabled={action.isPending}
                    onPress={() => action.mutate(undefined, { onSuccess: close })}
                  >
                    {what}
                  </Button>
                  <Button slot="close" className="button" autoFocus>
                    Go back
                  </Button>
                </div>
              </>
            )}
          </Dialog>
        </Modal>
      </ModalOverlay>
    </DialogTrigger>
  );
}
