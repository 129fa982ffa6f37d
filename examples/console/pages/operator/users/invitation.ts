import type { ShownUser } from '../../../host/replies.ts'
import { field } from '../../shared/field.ts'
import { form } from '../../shared/form.ts'
import { problemText } from '../../shared/problem-text.ts'
import { section } from '../../shared/section.ts'
import type { OperatorContext } from '../operator-page.ts'
import { hostCall } from '../shared/host-call.ts'
import type { Surface } from '../shared/surface-switch.ts'
import { mailPasswordLink } from './mail-links.ts'

/** Makes an account without a password, and mails a link with which its owner sets one. */
export function invitation(context: OperatorContext, surface: Surface): HTMLElement {
  return section('Invite', (body) => {
    const email = field({
      name: 'email',
      label: 'E-mail address',
      hint: 'A link is mailed to it, with which the person sets a password.',
      attributes: { type: 'email', required: true, autocomplete: 'off' },
    })
    const name = field({
      name: 'name',
      label: 'Name (optional)',
      attributes: { maxlength: 100, autocomplete: 'off' },
    })
    body.append(
      form({
        fields: [email, name],
        submit: 'Invite',
        fieldOf: { email_taken: 'email', email_not_allowed: 'email' },
        onSubmit: () =>
          invite(context, surface, {
            email: email.input.value.trim(),
            name: name.input.value.trim(),
          }),
      }),
    )
  })
}

async function invite(
  context: OperatorContext,
  surface: Surface,
  person: { readonly email: string; readonly name: string },
): Promise<void> {
  const { operator, announce, go } = context
  const { user } = await hostCall<{ user: ShownUser }>(
    operator,
    'POST',
    `/users/${surface}`,
    person,
  )
  try {
    await mailPasswordLink(operator, surface, user.id)
    announce(`${user.email} is invited: the mail is on its way.`)
  } catch (error) {
    // The account is there. The link can be mailed from its page.
    announce(`The account is made, but no mail was sent. ${problemText(error)}`)
  }
  go(`/users/${surface}/${user.id}`)
}
