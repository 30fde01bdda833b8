import { Button, Dialog, Heading, Modal, ModalOverlay } from 'react-aria-components';

const shortcuts = [
  [['J'], 'next job in the list, or next step of a job'],
  [['K'], 'previous job or step'],
  [['X'], 'select the job'],
  [['E'], 'archive the selected jobs'],
  [['Enter'], 'open the job'],
  [['/'], 'search'],
  [['Ctrl', 'K'], 'commands'],
  [['C'], 'new job'],
  [['R'], 'retry the job, or the selected ones'],
  [['Ctrl', 'Enter'], 'send'],
  [['?'], 'show shortcuts'],
] as const;

/** Shows the list of all shortcuts. */
export function ShortcutsDialog({ onClose }: { onClose(): void }) {
  return (
    <ModalOverlay className="overlay" isDismissable isOpen onOpenChange={onClose}>
      <Modal className="modal">
        <Dialog className="dialog">
          <Heading slot="title">Keyboard</Heading>
          <dl className="shortcuts">
            {shortcuts.map(([keys, meaning]) => (
              <div key={meaning}>
                <dt>
                  {keys.map((key) => (
                    <kbd key={key}>{key}</kbd>
                  ))}
                </dt>
                <dd>{meaning}</dd>
              </div>
            ))}
          </dl>
          <div className="actions">
            <Button slot="close" className="button" autoFocus>
              Close
            </Button>
          </div>
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}
