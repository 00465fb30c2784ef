// RUN: hla-opt %s --hla-bufferize --split-input-file --verify-diagnostics

// expected-error @+1 {{'func.func' op expected one block (kernels have no control flow around them), but got several}}
func.func @blocks(%x: tensor<4xf32>) -> tensor<4xf32> {
  cf.br ^next
^next:
  return %x : tensor<4xf32>
}

// -----

// expected-error @+1 {{'func.func' op expected results to be ranked tensors, but result #1 is 'index'}}
func.func @index(%x: tensor<4xf32>, %i: index) -> (tensor<4xf32>, index) {
  return %x, %i : tensor<4xf32>, index
}

// -----

// expected-error @+1 {{'func.func' op expected arguments to be ranked, but argument #1 is 'tensor<*xf32>'}}
func.func @unranked(%x: tensor<4xf32>, %y: tensor<*xf32>) {
  return
}

// -----

// Its results become arguments, which a caller would not know.
// expected-error @+1 {{'func.func' op expected public functions not to be called (their results become arguments), but this one is}}
func.func @callee(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

func.func @caller(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = call @callee(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// Operators and scans are loops by then.
func.func @scan(%q: tensor<?x?x?x8xf32>) -> tensor<?x?x?x8xf32> {
  // expected-error @+1 {{op was not bufferized}}
  %y = hla.scan ins(%q, %q, %q : tensor<?x?x?x8xf32>, tensor<?x?x?x8xf32>, tensor<?x?x?x8xf32>) outs(%q : tensor<?x?x?x8xf32>) -> tensor<?x?x?x8xf32>
  return %y : tensor<?x?x?x8xf32>
}
