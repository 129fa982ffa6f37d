import { element } from '../element.ts'
import { field } from '../field.ts'
import { form } from '../form.ts'
import type { Page, PageContext } from '../page.ts'
import { section } from '../section.ts'
import { timeText } from '../time-text.ts'
import { deletionSection } from './deletion-section.ts'
import { ownerProof } from './owner-proof.ts'

/** What account this is, with its name and its address. */
export const accountPage: Page = {
  path: '/account',
  title: 'Your account',
  audience: 'user',
  render(main, context) {
    main.append(profile(context), address(context))
    // Operators are removed by other operators.
    if (context.surface === 'client') main.append(deletionSection(context))
  },
}

function profile({ client, announce }: PageContext): HTMLElement {
  return section('Profile', async (body, refresh) => {
    const account = await client.call('GET /me')
    const name = field({
      name: 'name',
      label: 'Name',
      value: account.name,
      attributes: { required: true, autocomplete: 'name' },
    })
    body.append(
      element('p', { class: 'soft' }, `Since ${timeText(account.createdAt)}`),
      form({
        fields: [name],
        submit: 'Save the name',
        onSubmit: async () => {
          await client.call('PATCH /me', { name: name.input.value })
          announce('Your name is saved.')
          refresh()
        },
      }),
    )
  })
}

function address(context: PageContext): HTMLElement {
  const { client, announce } = context
  return section('E-mail address', async (body, refresh) => {
    const [{ email }, proof] = await Promise.all([client.call('GET /me'), ownerProof(client)])
    const newEmail = field({
      name: 'newEmail',
      label: 'New address',
      attributes: { type: 'email', required: true, autocomplete: 'email' },
    })
    body.append(
      element('p', {}, 'Your address is ', element('strong', {}, email), '.'),
      form({
        fields: [newEmail, ...proof.fields],
        submit: 'Change the address',
        fieldOf: {
          invalid_credentials: 'currentPassword',
          email_not_allowed: 'newEmail',
          email_domain_not_allowed: 'newEmail',
        },
        onSubmit: async () => {
          await client.call('POST /me/email', { newEmail: newEmail.input.value, ...proof.input() })
          announce(
            `Open the link in the mail to ${newEmail.input.value}. Until then nothing changes.`,
          )
          refresh()
        },
      }),
    )
  })
}
