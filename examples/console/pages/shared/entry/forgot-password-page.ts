import { element } from '../element.ts'
import { field } from '../field.ts'
import { form } from '../form.ts'
import type { Page } from '../page.ts'
import { backLink } from './back-link.ts'

/** Asks for a mail with a link to choose another password. */
export const forgotPasswordPage: Page = {
  path: '/forgot-password',
  title: 'Choose another password',
  audience: 'visitor',
  render(main, { client }) {
    const email = field({
      name: 'email',
      label: 'E-mail address',
      attributes: { type: 'email', required: true, autocomplete: 'username' },
    })
    const send = async () => {
      await client.call('POST /password/forgot', { email: email.input.value })
      const heading = element('h2', { tabindex: -1 }, 'Look into your mails')
      const text = `If ${email.input.value} has an account, a mail with a link is on its way.`
      main.replaceChildren(heading, element('p', {}, text), backLink())
      heading.focus()
    }
    main.append(form({ fields: [email], submit: 'Send me a link', onSubmit: send }), backLink())
  },
}
