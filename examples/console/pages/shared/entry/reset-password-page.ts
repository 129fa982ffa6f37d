import { element } from '../element.ts'
import type { Page } from '../page.ts'
import { newPasswordForm } from './new-password-form.ts'

/** Where the mail leads that lets a user choose another password. */
export const resetPasswordPage: Page = {
  path: '/reset-password',
  title: 'Choose another password',
  audience: 'all',
  async render(main, context) {
    const token = context.fragment.get('token')
    main.append(
      token === null
        ? element('p', {}, element('a', { href: '/forgot-password' }, 'Ask for a link first'))
        : newPasswordForm(context, await context.options(), token),
    )
  },
}
