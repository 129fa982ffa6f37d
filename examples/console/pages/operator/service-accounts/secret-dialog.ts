import { actionButton } from '../../shared/action-button.ts'
import { openDialog } from '../../shared/dialog.ts'
import { element } from '../../shared/element.ts'

interface Issued {
  readonly clientId: string
  readonly clientSecret: string
}

/** Shows a new credential, whose secret cannot be shown again. Resolves when the operator closes it. */
export async function showSecret({ clientId, clientSecret }: Issued): Promise<void> {
  await openDialog<boolean>('Store this secret now', (close) => [
    element(
      'p',
      {},
      'It is shown this once. Put it where the machine keeps its secrets, and nowhere else.',
    ),
    element(
      'dl',
      {},
      element('dt', {}, 'Client id'),
      element('dd', {}, element('code', {}, clientId)),
      element('dt', {}, 'Client secret'),
      element('dd', {}, element('code', { class: 'secret' }, clientSecret)),
    ),
    element(
      'div',
      { class: 'buttons' },
      copyButton('client id', clientId),
      copyButton('client secret', clientSecret),
      element(
        'button',
        { type: 'button', class: 'primary', onclick: () => close(true) },
        'I have stored it',
      ),
    ),
  ])
}

function copyButton(what: string, text: string): HTMLElement {
  const done = element('span', { role: 'status' })
  const button = actionButton({
    label: `Copy the ${what}`,
    run: async () => {
      await navigator.clipboard.writeText(text)
      done.textContent = ' Copied.'
    },
  })
  return element('span', {}, button, done)
}
