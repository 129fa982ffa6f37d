import type { ClientCalls } from 'postern/client'
import { type InputOf, isPosternError } from 'postern/client'
import { element } from '../element.ts'
import { type Field, field } from '../field.ts'
import { form } from '../form.ts'
import type { Page, PageContext, SurfaceOptions } from '../page.ts'
import { currentPasswordField, newPasswordField } from '../password-field.ts'
import { backLink } from './back-link.ts'
import { acceptedTerms, termsField } from './terms-field.ts'

/** What a link may ask for besides the click. */
type Need = 'newPassword' | 'currentPassword' | 'terms'

/** Refusals that spend nothing: the same link is sent again with what they ask for. */
const needs: Readonly<Record<string, Need>> = {
  password_choice_required: 'newPassword',
  current_password_required: 'currentPassword',
  terms_not_accepted: 'terms',
}

const reasons: Readonly<Record<Need, string>> = {
  newPassword: 'This browser is not the one that registered. Choose the password of your account.',
  currentPassword: 'You are not signed in here. Give the password of your account.',
  terms: 'The terms have changed since you registered.',
}

/**
 * Where mails lead that confirm an address, of a new account or of one that moves. A click confirms, and not the page
 * as it opens: programs that look into mails open links too.
 */
export const verifyEmailPage: Page = {
  path: '/verify-email',
  title: 'Confirm your address',
  audience: 'all',
  async render(main, context) {
    const token = context.fragment.get('token')
    if (token === null) {
      const text =
        'This page needs a link from a mail, and it was opened without one. Open the link in the mail again. If no mail came, register or change your address once more.'
      main.append(element('p', {}, text), backLink())
      return
    }
    ask(main, context, { token, options: await context.options(), needed: [] })
  },
}

interface Confirmation {
  readonly token: string
  readonly options: SurfaceOptions
  readonly needed: readonly Need[]
}

function ask(main: HTMLElement, context: PageContext, confirmation: Confirmation): void {
  const { token, options, needed } = confirmation
  const { fields, input } = inputsFor(options, needed)
  const last = needed.at(-1)
  main.replaceChildren(
    element('p', {}, last === undefined ? 'One click, and it is done.' : reasons[last]),
    form({
      fields,
      submit: 'Confirm the address',
      fieldOf: { password_policy: 'newPassword', invalid_credentials: 'currentPassword' },
      onSubmit: async () => {
        try {
          await context.client.call('POST /email/verify', { token, ...input() })
        } catch (error) {
          const need =
            isPosternError(error) && error.kind === 'problem' ? needs[error.code] : undefined
          if (need === undefined || needed.includes(need)) throw error
          return ask(main, context, { ...confirmation, needed: [...needed, need] })
        }
        await confirmed(context)
      },
    }),
    backLink(),
  )
  fields[0]?.input.focus()
}

function inputsFor(options: SurfaceOptions, needed: readonly Need[]) {
  const has = (need: Need) => needed.includes(need)
  const newPassword = has('newPassword') ? newPasswordField(options, 'newPassword') : null
  const name = has('newPassword') ? field({ name: 'name', label: 'Name, if you like' }) : null
  const current = has('currentPassword') ? currentPasswordField() : null
  const terms = has('newPassword') || has('terms') ? termsField(options) : null
  const isField = (one: Field | null): one is Field => one !== null
  return {
    fields: [newPassword, name, current, terms].filter(isField),
    input: (): Omit<InputOf<ClientCalls['POST /email/verify']>, 'token'> => ({
      ...(newPassword && { newPassword: newPassword.input.value }),
      ...(name?.input.value ? { name: name.input.value } : {}),
      ...(current && { currentPassword: current.input.value }),
      ...acceptedTerms(options, terms),
    }),
  }
}

async function confirmed({ client, announce, go }: PageContext): Promise<void> {
  announce('Your address is confirmed.')
  // The address of a signed-in user may be another now.
  if (client.get().status === 'signedIn') await client.restore()
  go(client.get().status === 'signedIn' ? '/' : '/login')
}
