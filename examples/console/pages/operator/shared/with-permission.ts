import { isPosternError } from 'postern/client'
import { element } from '../../shared/element.ts'

/**
 * Fills a page, or a part of one, that not every operator may see. Where the permission is missing, it says which
 * one, and what to do.
 */
export function withPermission<A>(
  permission: string,
  fill: (body: HTMLElement, given: A) => void | Promise<void>,
): (body: HTMLElement, given: A) => Promise<void> {
  return async (body, given) => {
    try {
      await fill(body, given)
    } catch (error) {
      if (!isMissing(error)) throw error
      body.replaceChildren(
        element(
          'div',
          { class: 'notice' },
          element('p', {}, 'You may not see this. It needs the permission ', key(permission), '.'),
          element('p', { class: 'soft' }, 'An operator who gives out roles can give it to you.'),
        ),
      )
    }
  }
}

const key = (permission: string) => element('code', {}, permission)

function isMissing(error: unknown): boolean {
  return isPosternError(error) && error.kind === 'problem' && error.code === 'permission_denied'
}
