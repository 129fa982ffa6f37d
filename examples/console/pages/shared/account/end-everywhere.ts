import { actionButton } from '../action-button.ts'
import { isConfirmed } from '../confirm-dialog.ts'
import type { PageContext } from '../page.ts'

/** A button that ends all sessions of the user. */
export function endEverywhere({ client, announce }: PageContext): HTMLElement {
  return actionButton({
    label: 'Sign out everywhere',
    run: async () => {
      const isWanted = await isConfirmed({
        title: 'Sign out everywhere?',
        text: 'All of your sessions end, this one too.',
        action: 'Sign out',
      })
      if (!isWanted) return
      await client.call('POST /logout', { everywhere: true })
      announce('You are signed out everywhere.')
    },
  })
}
