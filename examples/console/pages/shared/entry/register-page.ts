import { actionButton } from '../action-button.ts'
import { element } from '../element.ts'
import { field } from '../field.ts'
import { form } from '../form.ts'
import type { Page, PageContext, SurfaceOptions } from '../page.ts'
import { newPasswordField } from '../password-field.ts'
import { backLink } from './back-link.ts'
import { nextStep } from './sign-in-steps.ts'
import { acceptedTerms, termsField } from './terms-field.ts'

/** Registers an address with a password. The account begins with the click on the mailed link. */
export const registerPage: Page = {
  path: '/register',
  title: 'Create an account',
  audience: 'visitor',
  async render(main, context) {
    const options = await context.options()
    const isOpen = options.registrationOpen && options.passwordLogin
    main.append(
      isOpen
        ? registration(main, context, options)
        : element('p', {}, 'New accounts are not made here.'),
      element('p', { class: 'links' }, element('a', { href: '/login' }, 'Sign in instead')),
    )
  },
}

function registration(main: HTMLElement, context: PageContext, options: SurfaceOptions) {
  const email = field({
    name: 'email',
    label: 'E-mail address',
    attributes: { type: 'email', required: true, autocomplete: 'username' },
  })
  const password = newPasswordField(options, 'password')
  const name = field({
    name: 'name',
    label: 'Name, if you like',
    attributes: { autocomplete: 'name' },
  })
  const terms = termsField(options)
  return form({
    fields: [email, password, name, ...(terms ? [terms] : [])],
    submit: 'Create the account',
    fieldOf: {
      password_policy: 'password',
      email_not_allowed: 'email',
      email_domain_not_allowed: 'email',
      terms_not_accepted: 'acceptedTermsVersion',
    },
    onSubmit: async () => {
      const reply = await context.client.call('POST /register', {
        email: email.input.value,
        password: password.input.value,
        ...(name.input.value === '' ? {} : { name: name.input.value }),
        ...acceptedTerms(options, terms),
      })
      if (reply.status === 'verificationRequired') mailed(main, context, email.input.value)
      else await nextStep(reply, main, context)
    },
  })
}

/** Says what comes next. It is the same for an address that has an account, which is not told. */
function mailed(main: HTMLElement, { client, announce }: PageContext, email: string): void {
  const heading = element('h2', { tabindex: -1 }, 'Open the link in the mail')
  const again = actionButton({
    label: 'Send another mail',
    run: async () => {
      await client.call('POST /email/verify/resend', { email })
      announce('If the address waits for it, another mail is on its way.')
    },
  })
  main.replaceChildren(
    heading,
    element('p', {}, `We sent a mail to ${email}. Your account begins when you open its link.`),
    again,
    backLink(),
  )
  heading.focus()
}
