import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Button, Dialog, DialogTrigger, Heading, Modal, ModalOverlay } from 'react-aria-components';
import { Problem } from './fields.tsx';
import { useMay, type Role } from './session.tsx';

interface ConfirmProps<Answer> {
  /** Whether it is open, where something besides the button may open it. */
  isOpen?: boolean;
  onOpenChange?(isOpen: boolean): void;
  /** Label of the button that opens the dialog. With `what`, it is the name of the button that confirms. */
  label: string;
  what: string;
  title: string;
  text: string;
  /** Choices below the text. */
  children?: ReactNode;
  act(): Promise<Answer>;
  /** Awaited before the dialog closes. */
  onDone(answer: Answer): unknown;
  /** Colors the buttons as a main action instead of a dangerous one. */
  isMain?: boolean;
  isDisabled?: boolean;
  /** Role that the action needs, without which the button is not shown. Default `admin`. */
  role?: Role;
}

/** Shows a button that asks for confirmation before an irreversible action. */
export function Confirm<Answer>({
  isOpen,
  onOpenChange,
  label,
  what,
  title,
  text,
  children,
  act,
  onDone,
  isMain = false,
  isDisabled = false,
  role = 'admin',
}: ConfirmProps<Answer>) {
  const action = useMutation({ mutationFn: act, onSuccess: onDone });
  const may = useMay(role);
  if (!may) return null;
  return (
    <DialogTrigger isOpen={isOpen} onOpenChange={onOpenChange}>
      <Button className={`button ${isMain ? 'button-primary' : 'button-danger'}`} isDisabled={isDisabled}>
        {label}
      </Button>
      <ModalOverlay className="overlay" isDismissable>
        <Modal className="modal">
          <Dialog className="dialog" role="alertdialog">
            {({ close }) => (
              <>
                <Heading slot="title">{title}</Heading>
                <p>{text}</p>
                {children !== undefined && <div className="dialog-choices">{children}</div>}
                <Problem error={action.error} />
                <div className="actions">
                  <Button
                    className={`button ${isMain ? 'button-primary' : 'button-danger-fill'}`}
                    aria-disabled={action.isPending}
                    onPress={() => !action.isPending && action.mutate(undefined, { onSuccess: close })}
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
