/** Reports whether an identity is disabled at `now` (ms): from `disabledAt` on, until `disabledUntil` or indefinitely. */
export function isDisabled(
  identity: { readonly disabledAt: number | null; readonly disabledUntil: number | null },
  now: number,
): boolean {
  return identity.disabledAt !== null && (identity.disabledUntil === null || now < identity.disabledUntil)
}
