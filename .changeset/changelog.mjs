// The lines of a changeset stand in CHANGELOG.md as they were written.
export default {
  getReleaseLine: ({ summary }) => summary.trim(),
  getDependencyReleaseLine: () => '',
}
