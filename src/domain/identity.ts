/**
 * Reports whether an identity may do everything: one that was made an admin, or the default admin, whom nothing makes less.
 * This is the one place that says so.
 */
export function isAdministrator(identity: { readonly isAdmin: boolean; readonly isDefaultAdmin: boolean }): boolean {
  return identity.isAdmin || identity.isDefaultAdmin
}

/** Reports whether an identity is disabled at `now` (ms): from `disabledAt` on, until `disabledUntil` or indefinitely. */
export function isDisabled(
  identity: { readonly disabledAt: number | null; readonly disabledUntil: number | null },
  now: number,
): boolean {
  return identity.disabledAt !== null && (identity.disabledUntil === null || now < identity.disabledUntil)
}
