/** The problem of an action, which readers of a screen hear at once; nothing without one. */
export function ActionProblem({ of }: { of: string | undefined }) {
  if (of === undefined) return null
  return (
    <p class="problem" role="alert">
      {of}
    </p>
  )
}
