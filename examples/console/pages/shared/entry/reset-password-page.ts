import { element } from '../element.ts'
import type { Page } from '../page.ts'
import { backLink } from './back-link.ts'
import { newPasswordForm } from './new-password-form.ts'

/** Where the mail leads that lets a user choose another password. */
export const resetPasswordPage: Page = {
  path: '/reset-password',
  title: 'Choose another password',
  audience: 'all',
  async render(main, context) {
    const token = context.fragment.get('token')
    if (token === null) {
      const text =
        'This page needs a link from a mail, and it was opened without one. Open the link in the mail again, or ask for a new one.'
      const ask = element('a', { href: '/forgot-password' }, 'Ask for a new link')
      main.append(element('p', {}, text), element('p', { class: 'links' }, ask))
    } else main.append(newPasswordForm(context, await context.options(), token))
    main.append(backLink())
  },
}
