import { actionButton } from './action-button.ts'
import { openDialog } from './dialog.ts'
import { element } from './element.ts'

/**
 * Shows backup codes, which the server tells this once. It is a dialog, since the page below it may change: at a
 * sign-in the codes come with the session.
 */
export async function showBackupCodes(codes: readonly string[]): Promise<void> {
  const text = `${codes.join('\n')}\n`
  const href = URL.createObjectURL(new Blob([text], { type: 'text/plain' }))
  const copied = element('span', { role: 'status' })
  await openDialog<true>('Your backup codes', (close) => [
    element(
      'p',
      {},
      'Keep these codes where you find them when your phone is gone. Each one works once, and they are not shown again.',
    ),
    element(
      'ul',
      { class: 'codes' },
      codes.map((code) => element('li', {}, element('code', {}, code))),
    ),
    element(
      'div',
      { class: 'buttons' },
      actionButton({
        label: 'Copy',
        run: async () => {
          await navigator.clipboard.writeText(text)
          copied.textContent = 'Copied.'
        },
      }),
      element('a', { class: 'button', href, download: 'backup-codes.txt' }, 'Download'),
      copied,
    ),
    element(
      'button',
      { type: 'button', class: 'primary', onclick: () => close(true) },
      'I have kept them',
    ),
  ])
  URL.revokeObjectURL(href)
}
