import { actionButton } from '../action-button.ts'
import { isConfirmed } from '../confirm-dialog.ts'
import { element } from '../element.ts'
import type { Page, PageContext } from '../page.ts'

/** Says what account the user is signed in to. */
export const accountPage: Page = {
  path: '/',
  title: 'Your account',
  audience: 'user',
  async render(main, { client, signal }) {
    const account = await client.call('GET /me', {}, { signal })
    const facts = [
      ['Name', account.name || 'not given'],
      ['E-mail address', account.email],
      ['Since', new Date(account.createdAt).toLocaleDateString('en')],
    ]
    main.append(
      element(
        'dl',
        {},
        facts.map(([name = '', value = '']) => [element('dt', {}, name), element('dd', {}, value)]),
      ),
      signOutEverywhere(client),
    )
  },
}

function signOutEverywhere(client: PageContext['client']): HTMLElement {
  return actionButton({
    label: 'Sign out everywhere',
    run: async () => {
      const isWanted = await isConfirmed({
        title: 'Sign out everywhere?',
        text: 'All of your sessions end, this one too.',
        action: 'Sign out everywhere',
      })
      if (isWanted) await client.call('POST /logout', { everywhere: true })
    },
  })
}
