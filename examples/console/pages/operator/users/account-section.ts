import { type ActionOptions, actionButton } from '../../shared/action-button.ts'
import { isConfirmed } from '../../shared/confirm-dialog.ts'
import { element } from '../../shared/element.ts'
import { field } from '../../shared/field.ts'
import { form } from '../../shared/form.ts'
import { hostCall } from '../../shared/host-call.ts'
import { section } from '../../shared/section.ts'
import type { OperatorContext } from '../operator-page.ts'
import { timeOf } from '../shared/time-of.ts'
import { mailConfirmationLink, mailPasswordLink } from './mail-links.ts'
import { pathOf, type UserOnPage } from './user-on-page.ts'
import { stateOf } from './user-state.ts'

/** What is known of the account, and what an operator can do about it. */
export function accountSection(context: OperatorContext, shown: UserOnPage): HTMLElement {
  const { user, isSelf } = shown
  return section(user.email, (body) => {
    body.append(facts(shown))
    if (isSelf) {
      const own = element('a', { href: '/account' }, 'its own pages')
      body.append(element('p', { class: 'soft' }, 'This is your account. Change it on ', own, '.'))
      return
    }
    const buttons = [
      standing(context, shown),
      ...mails(context, shown),
      factorReset(context, shown),
    ].map(actionButton)
    body.append(element('div', { class: 'buttons' }, buttons), renaming(context, shown))
  })
}

function facts({ user }: UserOnPage): HTMLElement {
  const lines = [
    ['Name', user.name || '–'],
    ['State', stateOf(user)],
    ['Address', user.emailVerified ? 'confirmed' : 'not confirmed yet'],
    ['Password', user.hasPassword ? 'set' : 'none'],
    ['Created', timeOf(user.createdAt)],
    ['Last sign-in', timeOf(user.lastLoginAt)],
    ['Id', element('code', {}, user.id)],
  ] as const
  return element(
    'dl',
    {},
    lines.map(([term, value]) => [element('dt', {}, term), element('dd', {}, value)]),
  )
}

function standing(
  { operator, announce, reload }: OperatorContext,
  shown: UserOnPage,
): ActionOptions {
  const { enabled } = shown.user
  return {
    label: enabled ? 'Disable …' : 'Enable',
    run: async () => {
      const isWanted =
        !enabled ||
        (await isConfirmed({
          title: `Disable ${shown.user.email}?`,
          text: 'All sessions end, mailed links and trusted devices count no more, and no sign-in is possible.',
          action: 'Disable',
        }))
      if (!isWanted) return
      await hostCall(operator, 'PATCH', pathOf(shown), { enabled: !enabled })
      announce(enabled ? 'The account is disabled.' : 'The account is enabled.')
      reload()
    },
  }
}

function mails({ operator, announce }: OperatorContext, { surface, user }: UserOnPage) {
  const password: ActionOptions = {
    label: 'Mail a password link',
    run: async () => {
      await mailPasswordLink(operator, surface, user.id)
      announce(`A link to set a password is on its way to ${user.email}.`)
    },
  }
  const confirmation: ActionOptions = {
    label: 'Mail a confirmation link',
    run: async () => {
      await mailConfirmationLink(operator, surface, user.id)
      announce(`A link to confirm the address is on its way to ${user.email}.`)
    },
  }
  return user.emailVerified ? [password] : [password, confirmation]
}

function factorReset(context: OperatorContext, shown: UserOnPage): ActionOptions {
  const { operator, announce, reload } = context
  return {
    label: 'Reset second factors …',
    run: async () => {
      const isWanted = await isConfirmed({
        title: `Reset the second factors of ${shown.user.email}?`,
        text: 'Authenticator app, passkeys and backup codes are removed and all sessions end. The owner gets a mail. Make sure that it is really the owner who asks.',
        action: 'Reset',
      })
      if (!isWanted) return
      await hostCall(operator, 'POST', `${pathOf(shown)}/mfa-reset`)
      announce('The second factors are removed, and all sessions are ended.')
      reload()
    },
  }
}

function renaming({ operator, announce, reload }: OperatorContext, shown: UserOnPage): HTMLElement {
  const name = field({
    name: 'name',
    label: 'Name',
    value: shown.user.name,
    attributes: { maxlength: 100, autocomplete: 'off' },
  })
  const rename = form({
    fields: [name],
    submit: 'Save the name',
    onSubmit: async () => {
      await hostCall(operator, 'PATCH', pathOf(shown), { name: name.input.value.trim() })
      announce('The name is saved.')
      reload()
    },
  })
  return element('details', {}, element('summary', {}, 'Change the name'), rename)
}
